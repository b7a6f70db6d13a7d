package shop;

import java.util.List;
import java.util.Map;
import javax.persistence.*;
import pgulid.UlidConverter;

public class Jpa {
    @Entity(name = "Customer") @Table(name = "customer")
    public static class Customer {
        @Id @Convert(converter = UlidConverter.class) @Column(columnDefinition = "ulid") public String id;
        public String name;
        @OneToMany(mappedBy = "customer") public List<Order> orders;
    }

    @Entity(name = "Order") @Table(name = "orders")
    public static class Order {
        @Id @Convert(converter = UlidConverter.class) @Column(columnDefinition = "ulid") public String id;
        @ManyToOne @JoinColumn(name = "customer_id", columnDefinition = "ulid") public Customer customer;
        public String note;
    }

    public static String newId(EntityManager manager) {
        return (String) manager.createNativeQuery("SELECT gen_ulid()::text").getSingleResult();
    }

    public static void main(String[] arguments) {
        EntityManagerFactory factory = Persistence.createEntityManagerFactory("shop",
            Map.of("javax.persistence.jdbc.url", arguments[0], "eclipselink.logging.level", "OFF"));
        EntityManager manager = factory.createEntityManager();
        manager.getTransaction().begin();
        Order first = new Order();
        first.id = newId(manager);
        first.note = "first";
        manager.persist(first);
        manager.getTransaction().commit();
        manager.createQuery("SELECT o FROM Order o WHERE o.id IN :ids").setParameter("ids", List.of(first.id)).getResultList();
        String within = "SELECT * FROM orders WHERE id <@ tstzrange(now() - interval '1 hour', NULL)";
        manager.createNativeQuery(within, Order.class).getResultList();
        factory.close();
    }
}
